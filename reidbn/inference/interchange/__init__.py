"""Exchange: an attack as a file that other tools read, and their networks as an attack.

rb.export("leak-single", "leak.bif")            .bif  .xmlbif  .xdsl (GeNIe)  .dot
rb.import_network("asia.bif")                    .bif  .xmlbif  .xdsl, or a pgmpy model
"""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "files": "FORMATS Imported import_network read_network export export_text",
        "names": "decoded encoded",
    },
)
