rule chain:
    """Target: everything of this part."""
    input:
        [],
