"""Exchange: an attack as a file that other tools read, and their networks as an attack.

rb.export("leak-single", "leak.bif")            .bif  .xmlbif  .xdsl (GeNIe)  .dot
rb.import_network("asia.bif")                    .bif  .xmlbif  .xdsl, or a pgmpy model
"""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "formats": "FORMATS",
        "names": "decoded encoded",
        "reading": "Imported import_network read_network",
        "writing": "export export_text",
    },
)
