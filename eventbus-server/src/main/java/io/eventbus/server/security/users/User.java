package io.eventbus.server.security.users;

import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Identity;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Line of the users file.
 *
 * @param hash of the password; null for a client that has none, but a certificate
 * @param account of the client; empty for none
 */
record User(String name, @Nullable PasswordHash hash, String account, Set<String> roles) {
  Identity identity(AuthenticationMethod method) {
    return new Identity(account, name, method, roles, Map.of(), Map.of(), Map.of(), null, null);
  }
}
