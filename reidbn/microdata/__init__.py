"""Tables of people: classes, subsets, masks, contingency."""
