package io.eventbus.server.session;

import org.jspecify.annotations.Nullable;

/**
 * Move that a client was asked for and has not answered; at most one at a time. Confined to the
 * loop.
 */
final class PendingMove {
  private @Nullable String token;
  private @Nullable MoveListener listener;
  // True when everything that the client published here before its move has reached the
  // subscribers.
  private boolean flushed;
  private boolean trailing;

  /** Starts a move; returns false if another is pending. */
  boolean begin(String requestToken, MoveListener requestListener) {
    if (listener != null) {
      return false;
    }
    token = requestToken;
    listener = requestListener;
    return true;
  }

  boolean isPending() {
    return listener != null;
  }

  boolean isFor(String requestToken) {
    return requestToken.equals(token);
  }

  /** Called when the client has read the request; ignored for another request. */
  void read(String requestToken) {
    if (isFor(requestToken)) {
      progresses();
    }
  }

  /** Reports a step of the pending move, if any. */
  void progresses() {
    MoveListener current = listener;
    if (current != null) {
      current.progresses();
    }
  }

  /** Called when a barrier of the client was answered. */
  void flushed() {
    flushed = isPending();
  }

  /** Called when the client has no subscription here and serves nothing. */
  void subscribesNothing() {
    MoveListener current = listener;
    if (current != null && flushed && !trailing) {
      trailing = true;
      current.trails();
    }
  }

  /** Called when the client declines the move; ignored for another request. */
  void failed(String requestToken, String reason) {
    MoveListener current = listener;
    if (current != null && isFor(requestToken)) {
      clear();
      current.declined(reason);
    }
  }

  /** Called when the client's session has ended. */
  void left() {
    MoveListener current = listener;
    if (current != null) {
      clear();
      current.left();
    }
  }

  private void clear() {
    token = null;
    listener = null;
    flushed = false;
    trailing = false;
  }
}
