"""Results as text, figures and pages."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "disclosure_figures leak_figures population_figures",
        "answer": "remarks sentence used_assumptions",
        "assessment_report": "report",
        "assessment_results": "EDGES SIZES large_enough",
        "assessment_threat": "assumptions threat_model",
        "class_sizes": "class_size_figure",
        "disclosure_page": "disclosure_page verdict",
        "drawing": "draw",
        "lattice_figures": "lattice_figure uniqueness_figure",
        "margins": "fitted_table",
        "options": "information_lost risk_utility",
        "page": "Section Shown bars",
        "style": "inline",
        "telling": "LEVELS Telling nearest",
        "thresholds": "PRESETS rule threshold",
        "verdict": "Judged",
        "whatif_figures": "draw_sweep",
        "words": "one_in",
    },
)
