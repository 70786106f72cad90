package io.eventbus.server.config;

/** Which socket implementation the bus uses. */
public enum TransportType {
  /** {@link #EPOLL} where there is one, else {@link #NIO}. */
  AUTO,
  /** Linux only; starting fails where it is missing. */
  EPOLL,
  /** Linux since 5.9 where it is permitted; starting fails where it is missing. */
  IO_URING,
  /** The JDK's selectors, everywhere. */
  NIO
}
