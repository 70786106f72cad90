package io.eventbus.server.call.tunnel;

import io.eventbus.server.routing.Delivery;
import java.util.function.BooleanSupplier;

/**
 * The loop that owns one end of a tunnel, on the way to the loop of the other end. What is given to
 * it is done in order there, behind the answer that has opened the tunnel. Confined to the loop; an
 * implementation must not block and must not throw.
 */
public interface TunnelLoop {
  /** Returns which loop this is. */
  int number();

  /** Says whether the current thread is the loop's. */
  boolean isCurrent();

  /** Does something in steps, now or in later turns of the loop. */
  void inSlices(BooleanSupplier step);

  /**
   * Calls {@link TunnelHalf#sendData} on another loop.
   *
   * @param offset where the frame ends
   */
  void data(TunnelHalf to, long offset, boolean last, Delivery frame);

  /**
   * Calls {@link TunnelHalf#sendCredit} on another loop.
   *
   * @param limit how far its client may send
   */
  void credit(TunnelHalf to, long limit, long received);

  /** Calls {@link TunnelHalf#sendEnd} on another loop. */
  void end(TunnelHalf to, TunnelEnding end);
}
