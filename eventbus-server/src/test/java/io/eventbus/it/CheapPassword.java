package io.eventbus.it;

import com.password4j.Argon2Function;
import com.password4j.Password;
import com.password4j.types.Argon2;

/** Hashes of passwords that a busy machine checks well within the time that a bus gives it. */
final class CheapPassword {
  private static final Argon2Function LITTLE = Argon2Function.getInstance(64, 1, 1, 32, Argon2.ID);

  private CheapPassword() {}

  static String hash(String password) {
    return Password.hash(password).addRandomSalt(16).with(LITTLE).getResult();
  }
}
