package io.eventbus.server.config;

/** Which socket implementation the bus uses. */
public enum TransportType {
  /** {@link #EPOLL} where there is one, else {@link #NIO}. */
  AUTO,
  /** Linux only; starting fails where it is missing. */
  EPOLL,
  /** The JDK's selectors, everywhere. */
  NIO
}
