package io.eventbus.loadtest.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Directory with the data of servers, deleted when it is closed and when the JVM ends. */
public final class DriverData implements AutoCloseable {
  /** Longer than a server that is asked to end has. */
  private static final long SERVERS_END_SECONDS = 12;

  private final Path path;
  private final DriverStopHook hook;

  private DriverData(Path path) {
    this.path = path;
    this.hook = DriverStopHook.add("data", this::deleteOnceServersEnded);
  }

  /**
   * Makes an empty directory.
   *
   * @param parent the directory in which it is made
   * @throws DriverException if it cannot be made
   */
  public static DriverData in(Path parent, String prefix) {
    try {
      return new DriverData(Files.createTempDirectory(Files.createDirectories(parent), prefix));
    } catch (IOException e) {
      throw new DriverException("no directory for data in " + parent, e);
    }
  }

  /** Returns where it is. */
  public Path path() {
    return path;
  }

  private void delete() {
    try {
      Directories.delete(path);
    } catch (IOException e) {
      throw new DriverException(path + " is not emptied", e);
    }
  }

  /** Deletes the data when other hooks have ended the servers, which write until then. */
  private void deleteOnceServersEnded() {
    try {
      CompletableFuture.allOf(
              ProcessHandle.current()
                  .children()
                  .map(ProcessHandle::onExit)
                  .toArray(CompletableFuture<?>[]::new))
          .get(SERVERS_END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // Deleted all the same: nobody needs what a server that hangs writes.
    }
    delete();
  }

  /** Deletes it; what writes to it must have ended. */
  @Override
  public void close() {
    hook.close();
    delete();
  }
}
