package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Extension that fails a class of tests in which a buffer was lost, or in which the bus logged an
 * unexpected error: every action of a client is expected.
 */
final class LeakWatch implements BeforeAllCallback, AfterAllCallback {
  private static final int COLLECTIONS = 3;

  /** Keeps what must not be logged. */
  private static final class Complaints extends AppenderBase<ILoggingEvent> {
    final List<String> found = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      boolean unexpected =
          (event.getLevel().isGreaterOrEqual(Level.ERROR) && !isOfRaft(event))
              || event.getFormattedMessage().contains("ended by an error")
              || (event.getLoggerName().startsWith("io.netty")
                  && event.getLevel().isGreaterOrEqual(Level.WARN));
      if (unexpected) {
        found.add(event.getLoggerName() + ": " + event.getFormattedMessage());
      }
    }
  }

  /**
   * Returns whether an error is of Raft: a server of the registry's group that starts or ends calls
   * its neighbours' frames errors.
   */
  private static boolean isOfRaft(ILoggingEvent event) {
    return event.getLoggerName().startsWith("org.apache.ratis.");
  }

  private final Complaints complaints = new Complaints();

  @Override
  public void beforeAll(ExtensionContext context) {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    // Losses of another class of this JVM do not count here.
    collect();
    complaints.start();
    root().addAppender(complaints);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    collect();
    root().detachAppender(complaints);
    assertThat(complaints.found).isEmpty();
  }

  /**
   * Collects lost buffers: leaks are noticed when the buffer has been collected and another one is
   * created.
   */
  private static void collect() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      ByteBuf next = PooledByteBufAllocator.DEFAULT.directBuffer(1);
      next.release();
    }
  }

  private static Logger root() {
    return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  }
}
