"""What the whole data engine shares: settings, argument checks, random streams, data types."""
