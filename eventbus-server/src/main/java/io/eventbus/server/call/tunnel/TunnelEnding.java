package io.eventbus.server.call.tunnel;

import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import java.nio.ByteBuffer;

/**
 * Why a tunnel ends before its time. Immutable.
 *
 * @param type the application's name for it; empty if the bus ends it
 * @param details more of it, not to be changed; empty if the bus ends it
 */
@SuppressWarnings("ArrayRecordComponent")
public record TunnelEnding(
    FailureCode code, Execution executed, String message, String type, byte[] details) {
  private static final byte[] NO_DETAILS = {};

  /** The bus ends it. */
  public static TunnelEnding of(FailureCode code, String message) {
    return new TunnelEnding(code, Execution.UNKNOWN, message, "", NO_DETAILS);
  }

  /** A client ends it. */
  public static TunnelEnding of(Failure failure) {
    ByteBuffer details = failure.getDetails().duplicate();
    byte[] bytes = new byte[details.remaining()];
    details.get(bytes);
    return new TunnelEnding(
        failure.getCode(), failure.getExecuted(), failure.getMessage(), failure.getType(), bytes);
  }

  /** Without what may be long. */
  TunnelEnding inShort() {
    return new TunnelEnding(code, executed, message, type, NO_DETAILS);
  }
}
