package io.eventbus.it;

import java.nio.ByteBuffer;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/** First messages of TLS clients that no bus can accept. */
public final class TlsHellos {
  private TlsHellos() {}

  /**
   * Returns the hello of a client that wants a certificate with an RSA key, of a bus that has one
   * of another kind.
   */
  public static byte[] withoutCommonCipher(SSLContext context) throws SSLException {
    return hello(context, "TLSv1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
  }

  /** Returns the hello of a client whose part of the key is no point of the curve. */
  public static byte[] withKeyShareOfZeros(SSLContext context) throws SSLException {
    byte[] hello = hello(context, "TLSv1.3", "TLS_AES_128_GCM_SHA256");
    byte[] x25519 = {0, 29, 0, 32};
    for (int i = 0; i < hello.length - 36; i++) {
      if (Arrays.equals(hello, i, i + 4, x25519, 0, 4)) {
        Arrays.fill(hello, i + 4, i + 36, (byte) 0);
        return hello;
      }
    }
    throw new AssertionError("no key share for x25519");
  }

  private static byte[] hello(SSLContext context, String protocol, String cipher)
      throws SSLException {
    SSLEngine client = context.createSSLEngine();
    client.setUseClientMode(true);
    SSLParameters offered = client.getSSLParameters();
    offered.setProtocols(new String[] {protocol});
    offered.setCipherSuites(new String[] {cipher});
    client.setSSLParameters(offered);
    ByteBuffer record = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
    client.wrap(ByteBuffer.allocate(0), record);
    return Arrays.copyOf(record.array(), record.position());
  }
}
