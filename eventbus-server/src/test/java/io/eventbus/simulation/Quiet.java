package io.eventbus.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Keeps the log to what is wrong: hundreds of buses tell a lot that is right. */
final class Quiet implements AutoCloseable {
  private final Logger logger = (Logger) LoggerFactory.getLogger("io.eventbus.server");
  private final @Nullable Level before = logger.getLevel();

  Quiet() {
    logger.setLevel(Level.ERROR);
  }

  @Override
  public void close() {
    logger.setLevel(before);
  }
}
