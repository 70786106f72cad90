package io.eventbus.server.federation.call;

import io.eventbus.link.stream.ReceivedFrames;
import io.eventbus.link.stream.ReliableStream;
import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.delivery.Delivery;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Both directions of a stream of calls, over all its connections. Confined to the loop. */
final class CallStream implements ReliableStream.Owner<PeerCallFrame> {
  /** Frames after which an acknowledgement is sent at once. */
  private static final long DUE_FRAMES = 64;

  private final LoopStreams loop;
  private final LongConsumer unsent;
  private final ReliableStream<PeerCallFrame> out;
  private final ReceivedFrames in;
  private long written;
  private boolean ended;

  /**
   * Creates a stream without frames.
   *
   * @param unsent gets the numbers of calls that are not sent: the last one first
   */
  CallStream(LoopStreams loop, LongConsumer unsent) {
    this.loop = loop;
    this.unsent = unsent;
    this.out = new ReliableStream<>(loop.lanes(), this);
    // A frame that was handled is settled.
    this.in = new ReceivedFrames(loop.lanes(), DUE_FRAMES, Runnable::run);
  }

  ReliableStream<PeerCallFrame> out() {
    return out;
  }

  ReceivedFrames in() {
    return in;
  }

  /** Returns how many of the added calls, from the first on, were sent. */
  long callsWritten() {
    return written;
  }

  /** Returns whether there is no room for more frames. */
  boolean isFull() {
    return out.bytes() > loop.lanes().config().queueBytes();
  }

  /**
   * Continues on a connection after the frames that the other end has received.
   *
   * @throws IllegalArgumentException if the other end claims unsent frames
   */
  void up(StreamConnection by, long otherTaken) {
    out.acknowledge(otherTaken);
    loop.counters().resent.add(out.up(by, otherTaken));
    in.up(by);
    in.told();
  }

  /** Waits for another connection; calls that were never sent are given back. */
  void down() {
    out.down();
    in.down();
    List<Long> never = new ArrayList<>();
    out.removeUnsent(
        frame -> {
          boolean remove = frame.index() >= written;
          if (remove) {
            never.add(frame.number());
          }
          return remove;
        });
    // Each goes before those that wait.
    for (int i = never.size() - 1; i >= 0; i--) {
      unsent.accept(never.get(i));
    }
  }

  /** Starts another session: nothing of this one is kept. */
  void restart() {
    out.restart();
    in.restart(0);
    written = 0;
  }

  /** Ends with this bus: nothing is kept from now on, because nothing is sent again. */
  void end() {
    ended = true;
    restart();
  }

  /** Keeps a frame, and sends it soon. */
  void send(byte[] head, @Nullable Delivery body) {
    send(PeerCallFrame.of(loop.lanes().memory(), head, body));
  }

  /** Keeps a frame, and sends it soon; releases it while this bus ends. */
  void send(PeerCallFrame call) {
    if (ended) {
      call.release();
    } else {
      out.add(call);
    }
  }

  @Override
  public void onSent(PeerCallFrame frame) {
    written = Math.max(written, frame.index() + 1);
  }

  @Override
  public void onExpired(PeerCallFrame frame) {
    unsent.accept(frame.number());
  }

  @Override
  public boolean writeMore(StreamConnection to) {
    // An acknowledgement now costs no extra write.
    in.settle();
    return false;
  }

  /** Acknowledges soon, if no frames are sent before that. */
  void onReadEnd() {
    if (!out.isDrainScheduled()) {
      in.onReadEnd();
    }
  }
}
