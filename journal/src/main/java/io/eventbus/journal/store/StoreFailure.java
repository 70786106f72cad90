package io.eventbus.journal.store;

import io.eventbus.journal.rows.DamagedStoreException;
import io.eventbus.journal.rows.StoreFailedException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** First failure of a store, after which it is not used any more. Any thread. */
final class StoreFailure {
  private static final Logger LOG = LoggerFactory.getLogger(StoreFailure.class);

  private final Path directory;
  private final Consumer<StoreFailedException> listener;
  private final AtomicReference<@Nullable StoreFailedException> first = new AtomicReference<>();

  StoreFailure(Path directory, Consumer<StoreFailedException> listener) {
    this.directory = directory;
    this.listener = listener;
  }

  /** Throws if the store has failed. */
  void check() {
    StoreFailedException failure = first.get();
    if (failure != null) {
      throw new StoreFailedException(failure.getMessage() + " (failed before)", failure);
    }
  }

  /** Ends the store, if nothing has before, and returns what is to be thrown. */
  StoreFailedException fail(String problem, @Nullable Throwable cause) {
    String message = "store " + directory + ": " + problem;
    StoreFailedException failure = failure(message, cause);
    if (first.compareAndSet(null, failure)) {
      LOG.error("{}; it is not used any more until it is opened anew", failure.getMessage());
      tell(failure);
    }
    return failure;
  }

  private static StoreFailedException failure(String message, @Nullable Throwable cause) {
    if (cause == null) {
      return new StoreFailedException(message);
    }
    String all = message + ": " + cause.getMessage();
    return cause instanceof RocksDBException e
            && e.getStatus() != null
            && e.getStatus().getCode() == Status.Code.Corruption
        ? new DamagedStoreException(all, cause)
        : new StoreFailedException(all, cause);
  }

  private void tell(StoreFailedException failure) {
    try {
      listener.accept(failure);
    } catch (RuntimeException e) {
      // The caller may be native code, in which an exception would end.
      LOG.error("store {}: the listener of failures has failed", directory, e);
    }
  }
}
