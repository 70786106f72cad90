package io.eventbus.journal.chunk;

/**
 * Damage of a chunk or of its index row: bytes that are not as they were written. The message says
 * which chunk, where, what is there and what was expected.
 */
public final class ChunkFormatException extends Exception {
  private static final long serialVersionUID = 1;

  ChunkFormatException(String message) {
    super(message);
  }

  ChunkFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
