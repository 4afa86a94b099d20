"""One file per attack: data to subject data to answer."""
