package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.delivery.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * End of a stream or tunnel, at the connection of the caller or of the member. Confined to the loop
 * that owns the connection.
 *
 * <pre>
 *   REQUESTED ──► OPEN ──► ENDED
 *       └────────────────────▲
 * </pre>
 *
 * <p>A caller's end is requested until a member accepts it; a member's end starts open.
 */
public final class TunnelHalf {
  private enum State {
    REQUESTED,
    OPEN,
    ENDED
  }

  private final TunnelClient client;
  private final long call;
  private final boolean stream;
  private State state;
  private @Nullable TunnelHalf peer;
  private long peerCall;

  // From the client: offset of its next Data, and the end of its credit.
  private long next;
  private long allowed;
  private boolean hasSentLast;

  // To the client.
  private final TunnelWindow window;
  private boolean hasLast;

  /** Creates the caller's end, with the credit that it gives. */
  TunnelHalf(TunnelClient client, long call, boolean stream, long limit) {
    this.client = client;
    this.call = call;
    this.stream = stream;
    this.window = new TunnelWindow(client.room(), limit);
    this.state = State.REQUESTED;
  }

  /** Creates the member's end. */
  TunnelHalf(TunnelClient client, long call, long limit, TunnelHalf caller) {
    this.client = client;
    this.call = call;
    this.stream = caller.stream;
    // The caller of a stream sends nothing.
    this.window = new TunnelWindow(client.room(), stream ? 0 : limit);
    this.hasLast = stream;
    this.allowed = caller.initialGrant;
    this.peer = caller;
    this.peerCall = caller.call;
    this.state = State.OPEN;
    this.initialGrant = window.granted();
  }

  // Read by the other end's loop before it is open: initial credit of its client.
  private long initialGrant;

  /** Returns the initial credit of the member; any thread, before it has accepted. */
  public long initialLimit() {
    return initialGrant;
  }

  /** Prepares the caller's end to be read by the loops of members. */
  TunnelHalf requested() {
    initialGrant = window.granted();
    return this;
  }

  /**
   * Opens the caller's end after a member has accepted. Returns the caller's initial credit for
   * {@code Reply.limit}; -1 if the caller's end has ended, and the member is notified.
   */
  public long accepted(TunnelHalf member) {
    assert client.loop().isCurrent();
    if (state != State.REQUESTED) {
      return -1;
    }
    state = State.OPEN;
    peer = member;
    peerCall = member.call;
    allowed = member.initialGrant;
    hasSentLast = stream;
    client.open();
    return allowed;
  }

  long call() {
    return call;
  }

  /** Returns the number of its loop; any thread. */
  public int loop() {
    return client.loop().number();
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  TunnelWindow window() {
    return window;
  }

  private TunnelHalf peer() {
    TunnelHalf other = peer;
    if (other == null) {
      throw new IllegalStateException("tunnel: " + state + " (expected: one with another end)");
    }
    return other;
  }

  // ---- From the client

  /** Handles a part of a message from the client; returns false if it is not allowed. */
  boolean data(long offset, boolean more, boolean last, int payload) {
    String problem = problem(offset, more, last, payload);
    if (problem != null) {
      fail(TunnelEnding.of(FailureCode.INTERNAL, problem));
      return false;
    }
    TunnelHalf to = peer();
    Delivery frame = client.ends().data(peerCall, offset, more, last, payload);
    if (frame == null) {
      return true;
    }
    next += TunnelFrames.cost(payload);
    hasSentLast = last;
    client.count(payload);
    TunnelLoop loop = client.loop();
    if (to.client.loop().number() == loop.number()) {
      to.sendData(next, last, frame);
    } else {
      loop.data(to, next, last, frame);
    }
    endIfDone();
    return true;
  }

  private @Nullable String problem(long offset, boolean more, boolean last, int payload) {
    if (hasSentLast) {
      return "Data after the last one" + (stream ? ", or from the caller of a stream" : "");
    }
    if (offset != next) {
      return "Data.offset: " + offset + " (expected: " + next + ", the end of the Data before)";
    }
    if (more && last) {
      return "Data.last: true, and Data.more: true (expected: the last ends a message)";
    }
    return TunnelWindow.fits(offset, payload, allowed)
        ? null
        : "Data.payload: "
            + payload
            + " bytes at "
            + offset
            + " (expected: an end at most at "
            + allowed
            + ", as Credit.limit says, with 64 for the frame)";
  }

  /** Handles credit of the client; returns false if its numbers are impossible. */
  boolean credit(long limit, long received) {
    if (received > window.queued()) {
      fail(
          TunnelEnding.of(
              FailureCode.INTERNAL,
              "Credit.received: "
                  + received
                  + " (expected: at most "
                  + window.queued()
                  + ", which was sent)"));
      return false;
    }
    this.received = Math.max(this.received, received);
    window.limit(limit);
    sendGrant();
    return true;
  }

  // Bytes that the client reports as received.
  private long received;

  /** Sends the sender credit, if that is worth a frame. */
  void sendGrant() {
    if (state != State.OPEN || hasLast || !window.isDue()) {
      return;
    }
    long limit = window.grant();
    TunnelHalf to = peer();
    TunnelLoop loop = client.loop();
    if (to.client.loop().number() == loop.number()) {
      to.sendCredit(limit, received);
    } else {
      loop.credit(to, limit, received);
    }
  }

  /** Ends the tunnel at the client's request. */
  void reset(TunnelEnding end) {
    if (state == State.OPEN) {
      tellPeer(end);
    }
    end();
  }

  /** Ends the tunnel because of an invalid frame of the client; both ends are notified. */
  void fail(TunnelEnding end) {
    client.ends().ended(call, end);
    reset(end);
  }

  private void tellPeer(TunnelEnding end) {
    TunnelHalf to = peer();
    TunnelLoop loop = client.loop();
    if (to.client.loop().number() == loop.number()) {
      to.sendEnd(end);
    } else {
      loop.end(to, end);
    }
  }

  // ---- To the client

  /**
   * Sends a frame of the other end; discarded if this end has ended.
   *
   * @param end offset after the frame
   */
  public void sendData(long end, boolean last, Delivery frame) {
    assert client.loop().isCurrent();
    if (state != State.OPEN) {
      frame.release();
      return;
    }
    window.queue(end);
    hasLast = last;
    client.send(this, end, frame);
    endIfDone();
  }

  /** Called when waiting frames were written to the client. */
  void wrote(long end) {
    window.wrote(end);
    if (state == State.ENDED && window.isWritten()) {
      client.drained();
    }
  }

  /** Sends the client credit. */
  public void sendCredit(long limit, long others) {
    assert client.loop().isCurrent();
    if (state == State.OPEN && !hasSentLast) {
      allowed = limit;
      client.ends().credit(call, limit, others);
    }
  }

  /** Notifies the client that the other end has ended the tunnel. */
  public void sendEnd(TunnelEnding end) {
    assert client.loop().isCurrent();
    if (state == State.OPEN) {
      client.ended(call, end);
      end();
    }
  }

  // ---- The end

  /** Ends the tunnel if both directions have had their last frame. */
  private void endIfDone() {
    if (hasLast && hasSentLast) {
      end();
    }
  }

  /** Forgets the tunnel. Late frames of its client are tolerated. */
  void end() {
    if (state == State.ENDED) {
      return;
    }
    boolean open = state == State.OPEN;
    state = State.ENDED;
    window.close();
    client.forget(this, open, hasSentLast ? 0 : allowed - next);
    peer = null;
  }

  /**
   * Cancels a tunnel that the client has accepted too late: it has ended for the caller, and the
   * client was notified.
   */
  public void acceptedTooLate() {
    assert client.loop().isCurrent();
    end();
  }

  /** Ends an accepted tunnel at once if the client has too many. */
  public void endIfTooMany() {
    assert client.loop().isCurrent();
    String problem = state == State.OPEN ? client.excess() : null;
    if (problem != null) {
      fail(TunnelEnding.of(FailureCode.OVERLOADED, "the member: " + problem));
    }
  }

  /** Returns the kind of the call; any thread. */
  public CallKind kind() {
    return stream ? CallKind.STREAM : CallKind.TUNNEL;
  }
}
