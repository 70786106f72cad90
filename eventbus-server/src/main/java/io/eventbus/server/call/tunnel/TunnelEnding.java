package io.eventbus.server.call.tunnel;

import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import java.nio.ByteBuffer;

/**
 * Reason for the early end of a tunnel. Immutable.
 *
 * @param type type given by the application; empty if the bus ends it
 * @param details details of the application, not to be changed; empty if the bus ends it
 */
@SuppressWarnings("ArrayRecordComponent")
public record TunnelEnding(
    FailureCode code, Execution executed, String message, String type, byte[] details) {
  private static final byte[] NO_DETAILS = {};

  /** Creates the reason of the bus. */
  public static TunnelEnding of(FailureCode code, String message) {
    return new TunnelEnding(code, Execution.UNKNOWN, message, "", NO_DETAILS);
  }

  /** Creates the reason of a client. */
  public static TunnelEnding of(Failure failure) {
    ByteBuffer details = failure.getDetails().duplicate();
    byte[] bytes = new byte[details.remaining()];
    details.get(bytes);
    return new TunnelEnding(
        failure.getCode(), failure.getExecuted(), failure.getMessage(), failure.getType(), bytes);
  }

  /** Returns the reason without its parts of unbounded length. */
  TunnelEnding inShort() {
    return new TunnelEnding(code, executed, message, type, NO_DETAILS);
  }
}
