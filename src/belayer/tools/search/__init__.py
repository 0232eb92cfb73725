"""Those who search the web for us, one file each."""
