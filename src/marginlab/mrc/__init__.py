"""Minimax risk classifiers learned by constraint and column generation."""
