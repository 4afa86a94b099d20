"""Exchange: an attack as a file that other tools read, and their networks as an attack.

rb.export("leak-single", "leak.bif")            .bif  .xmlbif  .xdsl (GeNIe)  .dot
rb.import_network("asia.bif")                    .bif  .xmlbif  .xdsl, or a pgmpy model
"""

from reidbn.inference.interchange.formats import FORMATS
from reidbn.inference.interchange.reading import Imported, import_network, read_network
from reidbn.inference.interchange.writing import export, export_text

__all__ = ["FORMATS", "Imported", "export", "export_text", "import_network", "read_network"]
