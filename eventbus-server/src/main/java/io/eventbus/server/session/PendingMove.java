package io.eventbus.server.session;

import org.jspecify.annotations.Nullable;

/** What a client was asked for and has not answered: one change of bus at a time. Confined. */
final class PendingMove {
  private @Nullable String token;
  private @Nullable MoveListener listener;
  // All that the client has published here before it goes has reached its subscribers.
  private boolean flushed;
  private boolean trailing;

  /** Takes a request; false if there is one already. */
  boolean begin(String itsToken, MoveListener itsListener) {
    if (listener != null) {
      return false;
    }
    token = itsToken;
    listener = itsListener;
    return true;
  }

  boolean isPending() {
    return listener != null;
  }

  boolean isFor(String itsToken) {
    return itsToken.equals(token);
  }

  /** The client has read the request; nothing happens if that is about another one. */
  void read(String itsToken) {
    if (isFor(itsToken)) {
      progresses();
    }
  }

  /** The client has done a step, if it was asked for any. */
  void progresses() {
    MoveListener told = listener;
    if (told != null) {
      told.progresses();
    }
  }

  /** A barrier of the client was answered. */
  void flushed() {
    flushed = isPending();
  }

  /** The client has no subscription here and serves nothing. */
  void subscribesNothing() {
    MoveListener told = listener;
    if (told != null && flushed && !trailing) {
      trailing = true;
      told.trails();
    }
  }

  /** The client stays; nothing happens if that is about another request. */
  void failed(String itsToken, String why) {
    MoveListener told = listener;
    if (told != null && isFor(itsToken)) {
      clear();
      told.declined(why);
    }
  }

  /** The client is gone. */
  void left() {
    MoveListener told = listener;
    if (told != null) {
      clear();
      told.left();
    }
  }

  private void clear() {
    token = null;
    listener = null;
    flushed = false;
    trailing = false;
  }
}
