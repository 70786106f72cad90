package io.eventbus.journal.rows;

/**
 * Damage on the disk that a reader has met: the row cannot be read, others may be. Thrown only to
 * readers of a lease; rules that apply entries get a {@link StoreFailedException}.
 */
public final class DamagedRowException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates a failure that names the store, the row, and what is wrong with it. */
  public DamagedRowException(String message, Throwable cause) {
    super(message, cause);
  }
}
