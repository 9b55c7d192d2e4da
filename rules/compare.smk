rule compare:
    """Target: everything of this part."""
    input:
        [],
