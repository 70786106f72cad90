package io.eventbus.server.call.tunnel;

import io.eventbus.server.delivery.Delivery;
import java.util.function.BooleanSupplier;

/**
 * Loop that owns one end of a tunnel, as seen from the loop of the other end. Its tasks are done in
 * order, after the answer that has opened the tunnel. Confined to the loop; an implementation must
 * not block and must not throw.
 */
public interface TunnelLoop {
  /** Returns the number of this loop. */
  int number();

  /** Returns whether the current thread is the loop's. */
  boolean isCurrent();

  /** Runs work in steps, now or in later turns of the loop. */
  void inSlices(BooleanSupplier step);

  /**
   * Calls {@link TunnelHalf#sendData} on another loop.
   *
   * @param offset offset after the frame
   */
  void data(TunnelHalf to, long offset, boolean last, Delivery frame);

  /**
   * Calls {@link TunnelHalf#sendCredit} on another loop.
   *
   * @param limit end of its client's credit
   */
  void credit(TunnelHalf to, long limit, long received);

  /** Calls {@link TunnelHalf#sendEnd} on another loop. */
  void end(TunnelHalf to, TunnelEnding end);
}
