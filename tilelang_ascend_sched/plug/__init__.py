"""How the plugin sits inside TileLang: switch, bindings, sessions, caches."""
