package io.eventbus.journal.rows;

/**
 * Failure of a store by rows that are not as they were written. It fails again when it is opened
 * anew: only a copy of another replica's rows helps.
 */
public final class DamagedStoreException extends StoreFailedException {
  private static final long serialVersionUID = 1;

  /** Creates a failure that names the row, what is wrong with it and what was expected. */
  public DamagedStoreException(String message) {
    super(message);
  }

  /** Creates a failure that names the row, what is wrong with it and what was expected. */
  public DamagedStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
