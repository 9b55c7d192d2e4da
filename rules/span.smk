rule span:
    """Target: everything of this part."""
    input:
        [],
