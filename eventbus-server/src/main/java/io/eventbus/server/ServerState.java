package io.eventbus.server;

import java.util.EnumSet;
import java.util.Set;

/**
 * State of a bus.
 *
 * <pre>
 *   STARTING --> UP -----> DRAINING --> STOPPED
 *       |         \          ^            ^
 *       |----------\--> FAILED ---------->|
 *       \----------------------------------/
 * </pre>
 */
enum ServerState {
  STARTING,
  UP,
  DRAINING,
  FAILED,
  STOPPED;

  private Set<ServerState> next() {
    return switch (this) {
      case STARTING -> EnumSet.of(UP, FAILED, STOPPED);
      case UP -> EnumSet.of(DRAINING, FAILED);
      case FAILED -> EnumSet.of(DRAINING, STOPPED);
      case DRAINING -> EnumSet.of(STOPPED);
      case STOPPED -> EnumSet.noneOf(ServerState.class);
    };
  }

  boolean mayBecome(ServerState state) {
    return next().contains(state);
  }
}
