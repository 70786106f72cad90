package io.eventbus.server.config;

/** Socket implementation of the bus. */
public enum TransportType {
  /** {@link #EPOLL} if there is one, else {@link #NIO}. */
  AUTO,
  /** Epoll, on Linux only; starting fails if it is missing. */
  EPOLL,
  /** Selectors of the JDK, everywhere. */
  NIO
}
