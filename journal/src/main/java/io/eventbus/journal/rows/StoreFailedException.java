package io.eventbus.journal.rows;

/**
 * Failure of a store, which can be neither read nor written any more. What was committed before is
 * on its disk or is applied again from the log: the store has to be opened anew. A {@link
 * DamagedStoreException} says that this does not help.
 */
public class StoreFailedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates a failure that names the store, what failed and what was expected. */
  public StoreFailedException(String message) {
    super(message);
  }

  /** Creates a failure that names the store, what failed and what was expected. */
  public StoreFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
