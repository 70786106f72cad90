package io.eventbus.server.call.tunnel;

import io.eventbus.protocol.TunnelFrames;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.routing.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream or tunnel, at the connection of the caller or of the member. Confined to the
 * loop that owns the connection.
 *
 * <pre>
 *   REQUESTED ──► OPEN ──► ENDED
 *       └────────────────────▲
 * </pre>
 *
 * A caller's is requested until a member accepts it; a member's begins open.
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

  // From the client: where its next Data begins, and how far it may go.
  private long next;
  private long allowed;
  private boolean hasSentLast;

  // To the client.
  private final TunnelWindow window;
  private boolean hasLast;

  /** The caller's, which has said how much it takes. */
  TunnelHalf(TunnelClient client, long call, boolean stream, long limit) {
    this.client = client;
    this.call = call;
    this.stream = stream;
    this.window = new TunnelWindow(client.room(), limit);
    this.state = State.REQUESTED;
  }

  /** The member's. */
  TunnelHalf(TunnelClient client, long call, long limit, TunnelHalf caller) {
    this.client = client;
    this.call = call;
    this.stream = caller.stream;
    // Nothing comes from the caller of a stream.
    this.window = new TunnelWindow(client.room(), stream ? 0 : limit);
    this.hasLast = stream;
    this.allowed = caller.toldAtFirst;
    this.peer = caller;
    this.peerCall = caller.call;
    this.state = State.OPEN;
    this.toldAtFirst = window.told();
  }

  // Read by the other end's loop, before it is open: what its client may send at first.
  private long toldAtFirst;

  /** Says how much the member may send at first; any thread, before it has accepted. */
  public long limitAtFirst() {
    return toldAtFirst;
  }

  /** The caller's end is about to be read by the loops of members. */
  TunnelHalf requested() {
    toldAtFirst = window.told();
    return this;
  }

  /**
   * A member has accepted; the caller's end is open.
   *
   * @return how much the caller may send at first: for {@code Reply.limit}; -1 if the caller's end
   *     has ended, and the member is told
   */
  public long accepted(TunnelHalf member) {
    assert client.loop().isCurrent();
    if (state != State.REQUESTED) {
      return -1;
    }
    state = State.OPEN;
    peer = member;
    peerCall = member.call;
    allowed = member.toldAtFirst;
    hasSentLast = stream;
    client.open();
    return allowed;
  }

  long call() {
    return call;
  }

  /** Returns which loop it belongs to; any thread. */
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

  /** The client sends a part of a message; returns false if it must not. */
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

  /** The client takes more; returns false if what it says of itself cannot be. */
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
    tellSender();
    return true;
  }

  // What the client says that it has received.
  private long received;

  /** Tells the sender how much it may send, if that is worth a frame. */
  void tellSender() {
    if (state != State.OPEN || hasLast || !window.isDue()) {
      return;
    }
    long limit = window.tell();
    TunnelHalf to = peer();
    TunnelLoop loop = client.loop();
    if (to.client.loop().number() == loop.number()) {
      to.sendCredit(limit, received);
    } else {
      loop.credit(to, limit, received);
    }
  }

  /** The client ends it. */
  void reset(TunnelEnding end) {
    if (state == State.OPEN) {
      tellPeer(end);
    }
    end();
  }

  /** What the client does is wrong: both ends are told. */
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
   * Sends what the other end has sent; nothing if this one has ended.
   *
   * @param end where the frame ends
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

  /** What waited for the client has been written to it. */
  void wrote(long end) {
    window.wrote(end);
    if (state == State.ENDED && window.isWritten()) {
      client.drained();
    }
  }

  /** Tells the client how much it may send. */
  public void sendCredit(long limit, long others) {
    assert client.loop().isCurrent();
    if (state == State.OPEN && !hasSentLast) {
      allowed = limit;
      client.ends().credit(call, limit, others);
    }
  }

  /** Tells the client that the other end has ended it. */
  public void sendEnd(TunnelEnding end) {
    assert client.loop().isCurrent();
    if (state == State.OPEN) {
      client.ended(call, end);
      end();
    }
  }

  // ---- The end

  /** Both directions have their last frame. */
  private void endIfDone() {
    if (hasLast && hasSentLast) {
      end();
    }
  }

  /** Forgets it. What its client may still send without knowing is let pass. */
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

  /** The client has accepted what nobody waits for any more, and was told so. */
  public void acceptedTooLate() {
    assert client.loop().isCurrent();
    end();
  }

  /** The client has accepted it; if it has too many, it ends at once. */
  public void endIfTooMany() {
    assert client.loop().isCurrent();
    String problem = state == State.OPEN ? client.excess() : null;
    if (problem != null) {
      fail(TunnelEnding.of(FailureCode.OVERLOADED, "the member: " + problem));
    }
  }

  /** Says which kind of call it is; any thread. */
  public CallKind kind() {
    return stream ? CallKind.STREAM : CallKind.TUNNEL;
  }
}
