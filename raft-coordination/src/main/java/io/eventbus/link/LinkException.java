package io.eventbus.link;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a link, or of a call over it. Trying again may help unless {@link #refusal()} says
 * otherwise; whether the other side has carried out a call that failed is not known, except where
 * {@link #wasSent()} is false.
 */
public final class LinkException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Reason why the other side refused the link; null if it did not. */
  private final @Nullable LinkRefusal refusal;

  private final boolean sent;

  LinkException(String message, @Nullable LinkRefusal refusal, boolean sent) {
    super(message);
    this.refusal = refusal;
    this.sent = sent;
  }

  LinkException(String message, Throwable cause) {
    super(message + ": " + cause, cause);
    this.refusal = cause instanceof LinkException link ? link.refusal : null;
    this.sent = false;
  }

  /**
   * Returns why the link was refused.
   *
   * @return the reason, or null if it was not refused
   */
  public @Nullable LinkRefusal refusal() {
    return refusal;
  }

  /**
   * Returns whether the call may have reached the other side.
   *
   * @return false if it certainly did not
   */
  public boolean wasSent() {
    return sent;
  }
}
