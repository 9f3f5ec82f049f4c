"""Bring a meeting site to Sederunt by an installed package."""
