rule subsvms:
    """Target: everything of this part."""
    input:
        [],
