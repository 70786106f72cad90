package io.eventbus.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.FieldVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Label;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.MethodVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Opcodes;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.signature.SignatureReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.signature.SignatureVisitor;
import io.eventbus.client.EventBusClient;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.registry.Registry;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Holds that no table of the bus becomes a list if all its keys have one hash: {@link
 * java.util.HashMap} builds a tree of such keys if their class implements Comparable of itself, and
 * walks over all of them if it does not. Reads the declared types of fields, methods, classes and
 * local variables, in all modules of the bus.
 */
class HashKeysTest {
  private static final Set<String> TABLES =
      Set.of(
          "java/util/Map",
          "java/util/HashMap",
          "java/util/LinkedHashMap",
          "java/util/Set",
          "java/util/HashSet",
          "java/util/LinkedHashSet",
          "java/util/concurrent/ConcurrentMap",
          "java/util/concurrent/ConcurrentHashMap",
          "java/util/concurrent/ConcurrentHashMap$KeySetView");

  private static final List<Class<?>> ONE_OF_EACH_MODULE =
      List.of(TopicFilter.class, Registry.class, EventBusClient.class, BusServer.class);

  /** Keys that nobody outside can choose, or of which there are few, with the reason. */
  private static final Map<String, String> ALLOWED =
      Map.ofEntries(
          Map.entry(
              "io/eventbus/client/internal/base/Transport$Channel", "an interface; by identity"),
          Map.entry("io/eventbus/client/internal/call/CallPath", "an interface; by identity"),
          Map.entry("io/eventbus/client/internal/durable/FeedLine", "an interface; by identity"),
          Map.entry(
              "io/eventbus/client/internal/call/ReceivedInvocation$Target",
              "the numbers are the bus's own"),
          Map.entry(
              "io/eventbus/client/tyrus/NameLookups$Name", "at most 1,000 look-ups at a time"),
          Map.entry("io/eventbus/link/OutgoingLinks$Target", "as few as buses"),
          Map.entry(
              "io/eventbus/server/balance/decision/ClientLoad",
              "as few as clients that move at once"),
          Map.entry(
              "io/eventbus/server/federation/call/LoopStreams$Incoming",
              "as few as buses and loops"),
          Map.entry(
              "io/eventbus/server/federation/tree/TreeTable$Key",
              "of buses, by identity, and the accounts that operators give"),
          Map.entry("io/eventbus/server/subscription/RemoteBus", "an interface; by identity"),
          Map.entry("io/eventbus/server/delivery/Subscriber", "an interface; by identity"),
          Map.entry("io/eventbus/server/security/roles/Role", "of the operator's file"),
          Map.entry(
              "io/eventbus/server/transport/ConnectionLoop$Ticking", "an interface; by identity"),
          Map.entry("io/netty/channel/Channel", "by identity"),
          Map.entry("java/lang/Runnable", "an interface; by identity"),
          Map.entry("java/net/InetSocketAddress", "of the operator's list of seeds"),
          Map.entry("org/apache/avro/Schema", "of the program that uses the SDK"),
          Map.entry("org/apache/ratis/metrics/MetricRegistryInfo", "none is ever put in"),
          Map.entry("org/apache/ratis/protocol/RaftGroupId", "one for each process"));

  @Test
  void keysThatAreEqualByValueAreComparable() throws Exception {
    Map<String, Set<String>> keys = new TreeMap<>();
    for (Class<?> one : ONE_OF_EACH_MODULE) {
      readModule(one, keys);
    }
    assertThat(keys).as("keys found").containsKey("java/lang/String");

    Map<String, Set<String>> wrong = new TreeMap<>();
    for (Map.Entry<String, Set<String>> key : keys.entrySet()) {
      if (!ALLOWED.containsKey(key.getKey()) && !isGood(key.getKey())) {
        wrong.put(key.getKey(), key.getValue());
      }
    }

    assertThat(wrong)
        .as(
            "keys of hash tables that do not implement Comparable of themselves, and where they"
                + " are")
        .isEmpty();
    assertThat(keys).as("keys that are allowed are used").containsKeys(allowed());
  }

  private static String[] allowed() {
    return ALLOWED.keySet().toArray(new String[0]);
  }

  private static boolean isGood(String name) throws ClassNotFoundException {
    if (name.startsWith("[")) {
      // Compared by identity.
      return true;
    }
    Class<?> type =
        Class.forName(name.replace('/', '.'), false, HashKeysTest.class.getClassLoader());
    return type.isEnum() || comparesItself(type) || !hasEquality(type);
  }

  /** Returns whether a class compares itself, as HashMap asks: of no superclass. */
  private static boolean comparesItself(Class<?> type) {
    for (Type each : type.getGenericInterfaces()) {
      if (each instanceof ParameterizedType of
          && of.getRawType() == Comparable.class
          && of.getActualTypeArguments()[0] == type) {
        return Modifier.isFinal(type.getModifiers());
      }
    }
    return false;
  }

  private static boolean hasEquality(Class<?> type) {
    try {
      return type.isInterface()
          || type.getMethod("equals", Object.class).getDeclaringClass() != Object.class;
    } catch (NoSuchMethodException e) {
      throw new AssertionError(e);
    }
  }

  private static void readModule(Class<?> one, Map<String, Set<String>> keys) throws Exception {
    Path from = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(from)) {
      readAll(from, keys);
    } else {
      try (FileSystem jar = FileSystems.newFileSystem(from)) {
        readAll(jar.getPath("/"), keys);
      }
    }
  }

  private static void readAll(Path root, Map<String, Set<String>> keys) throws IOException {
    List<Path> classes;
    try (Stream<Path> all = Files.walk(root.resolve("io/eventbus"))) {
      classes = all.filter(file -> file.toString().endsWith(".class")).toList();
    }
    for (Path file : classes) {
      String name = root.relativize(file).toString().replace('/', '.').replace(".class", "");
      new ClassReader(Files.readAllBytes(file))
          .accept(new Declarations(name, keys), ClassReader.SKIP_FRAMES);
    }
  }

  /** Declarations of a class. */
  private static final class Declarations extends ClassVisitor {
    private final String owner;
    private final Map<String, Set<String>> keys;

    Declarations(String owner, Map<String, Set<String>> keys) {
      super(Opcodes.ASM9);
      this.owner = owner;
      this.keys = keys;
    }

    private void take(@Nullable String signature, String place) {
      if (signature != null) {
        SignatureReader reader = new SignatureReader(signature);
        Keys visitor = new Keys(owner + place, keys);
        if (signature.startsWith("(") || place.isEmpty() || signature.startsWith("<")) {
          reader.accept(visitor);
        } else {
          reader.acceptType(visitor);
        }
      }
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      take(signature, "");
    }

    @Override
    public @Nullable FieldVisitor visitField(
        int access, String name, String type, @Nullable String signature, @Nullable Object value) {
      take(signature, "." + name);
      return null;
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String method,
        String type,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      take(signature, "." + method);
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitLocalVariable(
            String name,
            String descriptor,
            @Nullable String generic,
            Label start,
            Label end,
            int index) {
          take(generic, "." + method + ":" + name);
        }
      };
    }
  }

  /** Keys of the tables in a declared type, at any depth. */
  private static final class Keys extends SignatureVisitor {
    private final String place;
    private final Map<String, Set<String>> keys;
    // For each open type the number of its arguments; -1 for one that is no table.
    private final Deque<Integer> open = new ArrayDeque<>();
    private boolean argument;
    private boolean array;

    Keys(String place, Map<String, Set<String>> keys) {
      super(Opcodes.ASM9);
      this.place = place;
      this.keys = keys;
    }

    private void begin(String type) {
      if (argument && !array && !open.isEmpty() && open.peek() == 1) {
        keys.computeIfAbsent(type, t -> new TreeSet<>()).add(place);
      }
      argument = false;
      array = false;
    }

    @Override
    public void visitClassType(String name) {
      begin(name);
      open.push(TABLES.contains(name) ? 0 : -1);
    }

    @Override
    public void visitInnerClassType(String name) {
      open.pop();
      open.push(-1);
    }

    @Override
    public void visitTypeVariable(String name) {
      // The declaration that gives it has the type.
      argument = false;
      array = false;
    }

    @Override
    public SignatureVisitor visitArrayType() {
      array = true;
      return this;
    }

    @Override
    public void visitBaseType(char type) {
      argument = false;
      array = false;
    }

    @Override
    public SignatureVisitor visitTypeArgument(char wildcard) {
      next();
      argument = true;
      return this;
    }

    @Override
    public void visitTypeArgument() {
      next();
    }

    private void next() {
      int count = open.pop();
      open.push(count < 0 ? count : count + 1);
    }

    @Override
    public void visitEnd() {
      open.pop();
    }
  }
}
