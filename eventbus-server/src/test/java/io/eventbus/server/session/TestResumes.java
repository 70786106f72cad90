package io.eventbus.server.session;

import java.nio.ByteBuffer;

/** Resumes that are the same in every run, for simulations. */
public final class TestResumes {
  /** Key of all buses of a simulation. */
  public static final ResumeKey KEY = ResumeKey.of(new byte[ResumeKey.MIN_SECRET_BYTES]);

  private TestResumes() {}

  /** Returns whether two keys are the same, by their signatures. */
  public static boolean areSame(ResumeKey one, ResumeKey other) {
    byte[] drawn = new byte[16];
    return one.sign(drawn).equals(other.sign(drawn)) && one.hasSigned(other.sign(drawn));
  }

  /** Returns the resume of the client with this number. */
  public static String of(long client) {
    return KEY.sign(ByteBuffer.allocate(2 * Long.BYTES).putLong(client).array());
  }
}
