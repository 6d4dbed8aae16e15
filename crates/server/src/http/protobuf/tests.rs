//! Bodies of real clients, bytes of chance, and messages of another encoder.
