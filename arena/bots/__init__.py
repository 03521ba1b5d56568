"""What a bot is, where it is found, and the processes it runs as."""
