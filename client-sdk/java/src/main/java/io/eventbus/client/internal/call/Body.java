package io.eventbus.client.internal.call;

import java.nio.ByteBuffer;

/** An event in the form that it has in a frame. */
public interface Body {
  /** Bytes on the wire. */
  int bytes();

  /** The fingerprint of the schema, 0 for none. */
  long fingerprint();

  /** Writes {@link #bytes} bytes at the position. */
  void write(ByteBuffer out);
}
