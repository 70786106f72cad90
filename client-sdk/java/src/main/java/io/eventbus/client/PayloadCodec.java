package io.eventbus.client;

/**
 * Codec that turns values into payloads and back. {@link AvroCodec} has those for Avro.
 *
 * <p>Implementations must be safe for any number of threads, and must not keep the arrays.
 *
 * @param <T> the type of the values
 */
public interface PayloadCodec<T> {
  /**
   * Encodes a value.
   *
   * @param value the value
   * @return a new array
   * @throws EventBusException.UnreadablePayload if the value cannot be encoded
   */
  byte[] encode(T value);

  /**
   * Decodes a payload.
   *
   * @param payload the payload
   * @param fingerprint CRC-64-AVRO of the schema that it was written with, or 0 for none
   * @return the value
   * @throws EventBusException.UnreadablePayload if the payload is none of this codec
   */
  T decode(byte[] payload, long fingerprint);

  /**
   * Returns the fingerprint of the schema that {@link #encode} writes with.
   *
   * @return CRC-64-AVRO, or 0 for none
   */
  long fingerprint();
}
