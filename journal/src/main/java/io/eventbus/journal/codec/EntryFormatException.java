package io.eventbus.journal.codec;

/**
 * Failure to read bytes that are no entry: damaged, hostile, or of a later version. The message
 * names the field, the byte of the entry, and what was expected. Reading them again does not help.
 */
public final class EntryFormatException extends Exception {
  private static final long serialVersionUID = 1;

  EntryFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
