"""Plugins for engines: one module each, imported by the engine and by nothing here."""
