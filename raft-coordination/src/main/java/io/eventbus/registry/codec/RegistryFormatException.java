package io.eventbus.registry.codec;

import java.io.IOException;

/**
 * Failure to read bytes that the registry did not write: damaged, hostile, or of a later version of
 * the software. Reading them again does not help.
 */
public final class RegistryFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public RegistryFormatException(String message) {
    super(message);
  }

  public RegistryFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
