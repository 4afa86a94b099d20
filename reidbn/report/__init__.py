"""Results as text, figures and pages."""
