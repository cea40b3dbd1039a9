"""What a design could detect."""
