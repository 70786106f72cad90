package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Records print themselves; those that hold a secret must not print it. */
class SecretRecordsTest {
  private static final String MARK = "markedsecret0123456789abcdefghijklmnopqrstuv";

  /** Names of components that hold a secret. */
  private static final Set<String> SECRET =
      Set.of(
          "token",
          "password",
          "secret",
          "resume",
          "change",
          "authorization",
          "key",
          "hash",
          "salt",
          "text",
          "tokens");

  /** Components that only have such a name. */
  private static final Set<String> HARMLESS =
      Set.of(
          // Names of configuration keys, and keys of maps.
          "AccessChanged.key",
          "AccessRefused.key",
          "Flight.key",
          "Key.key",
          // Log for people.
          "Item.change");

  private static List<Class<?>> records() {
    List<Class<?>> records = new ArrayList<>();
    for (JavaClass each :
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.eventbus.server", "io.eventbus.cli", "io.eventbus.client")) {
      if (each.isRecord()) {
        records.add(each.reflect());
      }
    }
    return records;
  }

  private static boolean isSecret(Class<?> of, RecordComponent component) {
    Class<?> type = component.getType();
    return SECRET.contains(component.getName())
        && (type == String.class || type == byte[].class || type == List.class)
        && !HARMLESS.contains(of.getSimpleName() + "." + component.getName());
  }

  private static @Nullable Object value(Class<?> of, RecordComponent component) {
    Class<?> type = component.getType();
    if (isSecret(of, component)) {
      return type == String.class
          ? MARK
          : type == List.class ? List.of(MARK) : MARK.getBytes(StandardCharsets.US_ASCII);
    }
    if (type == boolean.class) {
      return false;
    }
    if (type == int.class) {
      return 1;
    }
    if (type == long.class) {
      return 1L;
    }
    if (type == double.class) {
      return 1.0;
    }
    if (type == String.class) {
      return "a";
    }
    if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    return Map.<Class<?>, Object>of(
            List.class, List.of(),
            Set.class, Set.of(),
            Map.class, Map.of(),
            Optional.class, Optional.empty())
        .get(type);
  }

  private static String printed(Class<?> of) throws Exception {
    RecordComponent[] components = of.getRecordComponents();
    Constructor<?> constructor =
        of.getDeclaredConstructor(
            Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
    constructor.setAccessible(true);
    Object[] values = Arrays.stream(components).map(c -> value(of, c)).toArray();
    Object made = constructor.newInstance(values);
    return made.toString();
  }

  @Test
  void noneIsPrinted() throws Exception {
    // Is looked at by a test of its own.
    Set<String> looked = new TreeSet<>(List.of("ClientOptions"));
    List<String> wrong = new ArrayList<>();
    for (Class<?> of : records()) {
      boolean secret = Arrays.stream(of.getRecordComponents()).anyMatch(c -> isSecret(of, c));
      if (!secret || !looked.add(of.getSimpleName())) {
        continue;
      }
      try {
        if (printed(of).contains("markedsecret")) {
          wrong.add(of.getName() + " prints its secret");
        }
      } catch (InvocationTargetException e) {
        wrong.add(of.getName() + " cannot be made here: " + e.getCause());
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(looked).contains("Credentials", "Granted");
  }
}
