rule mrc:
    """Target: everything of this part."""
    input:
        [],
