package io.eventbus.client.internal.call;

import java.nio.ByteBuffer;

/** Event in its wire format. */
public interface Body {
  /** Returns the number of bytes on the wire. */
  int bytes();

  /** Returns the fingerprint of the schema, 0 for none. */
  long fingerprint();

  /** Writes {@link #bytes} bytes at the position. */
  void write(ByteBuffer out);
}
