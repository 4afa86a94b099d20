"""Results as text, figures and pages."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "disclosure_figures leak_figures population_figures",
        "cards_page": "cards",
        "disclosure_page": "disclosure_page",
        "drawing": "draw",
        "options": "risk_utility",
    },
    {
        "assessment_report": "audited_telling held_together report",
        "assessment_results": "EDGES SIZES alike_in_bands large_enough",
        "assessment_threat": "assumptions threat_model",
        "disclosure_page": "verdict",
        "ledgered": "refuse_between released",
        "options": "information_lost",
        "page": "Section Shown bars how_told markdown telling_of",
        "style": "inline paper",
        "summary": "summarise",
        "subsets": "lattice_figure uniqueness_figure",
        "telling": "LEVELS Telling",
        "unseen": "not_looked_at",
        "thresholds": "Judged PRESETS least_change rule threshold",
        "assessment_figures": "options_figure risk_curves",
        "whatif_figures": "draw_sweep",
        "words": "about class_size_figure one_in remarks sentence used_assumptions",
    },
)
